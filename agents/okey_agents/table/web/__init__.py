"""The table where people play, in the browser: `okey play`.

`table.py` is a table without a network: seats, match, racks. `table_server.py` has all tables, `connection.py` talks to
one browser, `app.py` is the web server, and `static/` is the page, served as it is. What a seat is told of a running
round is made from its `Observation` (`views.py`), so it contains no hidden tile.
"""
