"""Kills processes with `kill -9` at random times, while they run statements and another program appends.

Chance decides when, by a seed. A process works on several tables at once, so one kill ends several statements. A seed
repeats the same statements and pauses, but not the same kills, because those depend on the machine.
"""
