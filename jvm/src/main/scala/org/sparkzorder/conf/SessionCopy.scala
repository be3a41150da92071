package org.sparkzorder.conf

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** Sessions of our own, in which a setting has another value than in the caller's. */
private[sparkzorder] object SessionCopy {

  /** A new session with the settings of `caller`, except for these. Static settings are those of the application. */
  def of(caller: SparkSession, settings: Map[String, String]): SparkSession = {
    val copy = caller.newSession()
    (caller.sessionState.conf.getAllConfs ++ settings).foreach { case (key, value) =>
      if (!SQLConf.isStaticConfigKey(key)) copy.sessionState.conf.setConfString(key, value)
    }
    copy
  }
}
