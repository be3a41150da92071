package org.sparkzorder.repartition

import java.io._
import java.nio.ByteBuffer

import com.google.common.cache.CacheBuilder

import org.sparkzorder.write.rows.RowPlan

/**
 * Plans as bytes, on their way from the task that makes a plan to the tasks that use it. They are
 * never stored.
 */
object PlanBytes {
  private val MostPlans = 8L

  /** Decoded plans, which the tasks of one executor share while there is memory for them. */
  private val plans =
    CacheBuilder.newBuilder().concurrencyLevel(1).maximumSize(MostPlans).softValues().build[ByteBuffer, RowPlan]()

  def of(plan: RowPlan): Array[Byte] = write(plan)

  def plan(bytes: Array[Byte]): RowPlan = plans.get(ByteBuffer.wrap(bytes), () => read[RowPlan](bytes))

  private[repartition] def write(value: Serializable): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(value)
    out.close()
    bytes.toByteArray
  }

  private[repartition] def read[T](bytes: Array[Byte]): T = {
    val loader = classOf[RowPlan].getClassLoader
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      // Our jar may have been added to a running session. Then the class loader that the JDK would
      // use has not our classes.
      override def resolveClass(description: ObjectStreamClass): Class[_] =
        try Class.forName(description.getName, false, loader)
        catch { case _: ClassNotFoundException => super.resolveClass(description) }
    }
    in.readObject().asInstanceOf[T]
  }
}
