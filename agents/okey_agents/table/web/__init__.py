"""The table where people play, in the browser: `okey play`.

`table.py` is a table without a network: seats, the match, the order of each rack, what each seat is told.
`house.py` keeps all tables, `server.py` brings them to browsers, and `static/` is the page, served as it is.
Nothing here knows a hidden tile that it could send: what a seat is told is made of its `Observation`.
"""
