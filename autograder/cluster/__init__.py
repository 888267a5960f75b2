"""Grading by many processes, here and on other machines: a chunk of submissions goes out, receipts come back.

    dealing   who gets what next, and what becomes of work whose grader ended
    chunks    the unit of work and the answers to it, as bytes
    grader    grades chunk after chunk in this process          worker    the program around it, with pipes
    process   such a program, seen from the one that started it
    jobs      many of them on this machine                      nodes     one on each node of a dask cluster
                                                                on_dask   what hands chunks to nodes

Only the process that a person started writes to the store. What comes of a submission does not depend on how many
graders there are, or on what else they grade.
"""
