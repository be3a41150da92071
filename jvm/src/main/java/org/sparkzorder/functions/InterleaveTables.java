package org.sparkzorder.functions;

import java.nio.ByteOrder;

import org.apache.spark.unsafe.Platform;

/**
 * Tables that tell where the bits of a byte go when the bits of n numbers are interleaved.
 *
 * <p>This is Java, since a static final field is a constant for the JIT compiler. So the compiler
 * knows the length of a table and need not check each index. A field of a Scala object belongs to
 * an instance, and is no such constant.
 */
public final class InterleaveTables {
  /** The most numbers: the bits of one byte of each of them fit a long. */
  static final int MAX_INPUTS = 8;

  // The element at 256 * i + b has the bits of byte b of input i, left-aligned in a long.
  public static final long[] OF_1 = table(1);
  public static final long[] OF_2 = table(2);
  public static final long[] OF_3 = table(3);
  public static final long[] OF_4 = table(4);
  public static final long[] OF_5 = table(5);
  public static final long[] OF_6 = table(6);
  public static final long[] OF_7 = table(7);
  public static final long[] OF_8 = table(8);

  private static final long[][] ALL = {{}, OF_1, OF_2, OF_3, OF_4, OF_5, OF_6, OF_7, OF_8};

  private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private InterleaveTables() {}

  /** The table for n inputs, 0 to 8. */
  static long[] of(int n) {
    return ALL[n];
  }

  /** Writes 8 bytes, big-endian. */
  public static void putLong(byte[] out, int at, long value) {
    Platform.putLong(out, Platform.BYTE_ARRAY_OFFSET + at, LITTLE_ENDIAN ? Long.reverseBytes(value) : value);
  }

  private static long[] table(int n) {
    long[] table = new long[256 * n];
    for (int at = 0; at < table.length; at++) {
      for (int bit = 0; bit < 8; bit++) {
        long isSet = ((at & 0xff) >>> (7 - bit)) & 1L;
        table[at] |= isSet << (63 - bit * n - at / 256);
      }
    }
    return table;
  }
}
