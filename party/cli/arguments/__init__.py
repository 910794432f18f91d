"""What each command's help says and which arguments it takes: by a function each, in a module per family.

The function's docstring is the help, whose examples stand at the end. No module here imports what the work needs, so
that help and mistakes are answered at once.
"""
