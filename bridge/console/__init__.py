"""What people look at in a terminal: the board of approvals and its table.

Reads public records only, as any other team's consumer would; knows nothing of slots or state.
"""
