"""`kill -9` at random times of a process that optimizes, restores, vacuums and indexes, while another appends.

Nothing is held still: chance decides when, by a seed. A process works on several tables at once, so that one kill ends
several statements. A seed draws the same statements and pauses again, not the same kills: those depend on the machine.
"""
