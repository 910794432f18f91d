"""What each command's help says and which arguments it takes: a module per command, and what several share.

A module here has the help as its docstring, whose examples stand at the end, and `add_arguments(parser)`. None imports
what the work needs, so that help and mistakes are answered at once; `party.cli` has a module of the same name with
`run(arguments)`, which is imported when the arguments are read.
"""
