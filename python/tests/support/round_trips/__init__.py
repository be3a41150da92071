"""Columns of every type, written by many libraries, and what the libraries see in the files."""
