"""Compares algorithms that learn: suites of tasks, seeds and budgets, their runs in processes, and the report.

`suite` reads what is to be run, `runner` starts one process for each run (`child`), `results` keeps one line for each,
`estimators` has the statistics, and `report` and `pictures` make the page.
"""
