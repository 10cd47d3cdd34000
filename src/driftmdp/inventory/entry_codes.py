"""Numbers that stand for something in the columns of a shop's event log."""

UNKNOWN = -1  # stands for a number or a day that is not known; as the bits of a cost it is not a number
SALES, ADVICE, DELIVERIES = 1, 2, 4  # what is withdrawn, or a sum of these
DEMAND = 3  # as ``seen``: the units were asked for, and may be more than were sold
