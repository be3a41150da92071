"""`make real-files`: runs each file of a folder through the statements once.

A file that Spark reads is copied three times into a folder. Then the folder gets a skipping index, is asked for rows,
is optimized, restored and vacuumed. A file that Spark cannot read is put beside good ones. Nobody here wrote the files,
so this finds what no test of ours makes.
"""
