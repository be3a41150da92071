package org.sparkzorder.optimize.options

/**
 * An option of OPTIMIZE or RESTORE. Parsing, error messages, the reference page and Python all read it from
 * here.
 *
 * @param group the heading under which the reference page lists it
 * @param valueType how users write its value, and which values are allowed
 * @param default what holds when a statement does not set it, as the reference page shows it
 * @param description for users: what the option does, in a sentence or two
 * @param example a value as a user would write it
 */
private[sparkzorder] sealed abstract class OptimizeOption[T](
    val key: String,
    val group: String,
    val valueType: OptionType[T],
    val default: String,
    val description: String,
    val example: String
)

/** An option whose default depends on the table or on other options. */
private[sparkzorder] final class OptionWithoutDefault[T](
    key: String,
    group: String,
    valueType: OptionType[T],
    default: String,
    description: String,
    example: String
) extends OptimizeOption[T](key, group, valueType, default, description, example)

/** An option that always has the same default. */
private[sparkzorder] final class OptionWithDefault[T](
    key: String,
    group: String,
    valueType: OptionType[T],
    val defaultValue: T,
    description: String,
    example: String
) extends OptimizeOption[T](key, group, valueType, valueType.show(defaultValue), description, example)
