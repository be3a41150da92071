package org.sparkzorder.footer

import org.apache.spark.sql.{DataFrame, SparkSession}

/** Rows with a column of every type that has statistics. */
object Samples {

  /** Makes 100 rows. Every seventh value is null; `s.x` is also null where `s` is. */
  def all(spark: SparkSession): DataFrame = spark.range(100).selectExpr(
    "if(id % 7 = 0, null, id % 2 = 0) as bool", "cast(if(id % 7 = 0, null, id - 50) as tinyint) as i8",
    "cast(if(id % 7 = 0, null, id * 100 - 5000) as smallint) as i16",
    "cast(if(id % 7 = 0, null, id * 100000 - 5000000) as int) as i32",
    "if(id % 7 = 0, null, id * 10000000000 - 5) as i64", "cast(if(id % 7 = 0, null, id - 50) as float) / 4 as f32x",
    "cast(cast(if(id % 7 = 0, null, id - 50) as float) as float) as f32",
    "cast(if(id % 7 = 0, null, id - 50) as double) / 3 as f64",
    "if(id % 7 = 0, null, date_add(date'2020-01-01', cast(id as int))) as d",
    "if(id % 7 = 0, null, date_add(date'1500-01-01', cast(id as int))) as ancient",
    "if(id % 7 = 0, null, timestamp_micros(id * 1000003 - 5000000)) as ts",
    "if(id % 7 = 0, null, timestamp_micros(id - 13000000000000000)) as ancient_ts",
    "cast(if(id % 7 = 0, null, timestamp_micros(id * 1000003)) as timestamp_ntz) as ntz",
    "cast(if(id % 7 = 0, null, id - 50) as decimal(7,2)) as dec7",
    "cast(if(id % 7 = 0, null, id - 50) as decimal(17,3)) as dec17",
    "cast(if(id % 7 = 0, null, (id - 50) * 3) as decimal(38,5)) as dec38",
    "if(id % 7 = 0, null, concat('v', id, 'äé')) as str", "if(id % 7 = 0, null, cast(id as string)) as str2",
    "cast(if(id % 7 = 0, null, concat('b', id)) as binary) as bin",
    "if(id % 7 = 0, null, make_dt_interval(cast(id as int) - 50)) as dti",
    "if(id % 7 = 0, null, make_ym_interval(cast(id as int) - 50)) as ymi", "cast(null as int) as nothing",
    "if(id % 3 = 0, null, named_struct('x', if(id % 7 = 0, null, id), 'in', named_struct('y', cast(id as string)))) as s",
    "array(id, null) as arr", "map(id, 'x') as m"
  )
}
