import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.example.GroupReadSupport;
import org.apache.parquet.schema.MessageType;

/** Writes the rows of a file with the parquet-java of the class path, by several settings: SOURCE FOLDER. */
public class WriteByParquetJava {
  public static void main(String[] arguments) throws Exception {
    Path source = new Path(new File(arguments[0]).toURI());
    Configuration conf = new Configuration();
    MessageType schema = ParquetFileReader.readFooter(conf, source).getFileMetaData().getSchema();
    List<Group> rows = new ArrayList<>();
    try (ParquetReader<Group> reader = ParquetReader.builder(new GroupReadSupport(), source).build()) {
      for (Group row = reader.read(); row != null; row = reader.read()) rows.add(row);
    }
    for (WriterVersion version : WriterVersion.values()) {
      for (int pageSize : new int[] {700, 1 << 20}) {
        for (int groupSize : new int[] {400_000, 128 << 20}) {
          boolean withDictionary = pageSize == 700 || version == WriterVersion.PARQUET_1_0;
          String name = version + "-" + pageSize + "-" + groupSize + ".parquet";
          ExampleParquetWriter.Builder builder =
              ExampleParquetWriter.builder(new Path(new File(arguments[1], name).toURI())).withType(schema);
          try (ParquetWriter<Group> writer = builder.withConf(conf).withWriterVersion(version).withPageSize(pageSize)
              .withRowGroupSize(groupSize).withDictionaryEncoding(withDictionary).build()) {
            for (Group row : rows) writer.write(row);
          }
        }
      }
    }
  }
}
