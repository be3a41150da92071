import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;

/** A JDBC client of Spark's Thrift server: {@code java -cp 'pyspark/jars/*' JdbcClient.java URL STATEMENT ..}. */
public final class JdbcClient {
  public static void main(String[] arguments) throws SQLException {
    try (Connection connection = DriverManager.getConnection(arguments[0]);
        Statement statement = connection.createStatement()) {
      for (int at = 1; at < arguments.length; at++) {
        try {
          print(statement, arguments[at]);
        } catch (SQLException error) {
          System.out.println("error " + error.getSQLState() + " " + error.getMessage().lines().findFirst().orElse(""));
        }
      }
    }
  }

  /** A line for each field: its number in the row, its name, its type, its value. */
  private static void print(Statement statement, String sql) throws SQLException {
    if (!statement.execute(sql)) {
      return;
    }
    try (ResultSet rows = statement.getResultSet()) {
      ResultSetMetaData columns = rows.getMetaData();
      while (rows.next()) {
        for (int at = 1; at <= columns.getColumnCount(); at++) {
          System.out.println(columns.getColumnName(at) + " " + columns.getColumnTypeName(at) + " " + rows.getString(at));
        }
      }
    }
  }
}
