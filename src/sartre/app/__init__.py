"""``sartre app``: the whole loop in a browser: look at a table, say what is known, run, look, ask, take away.

The page is a face: what it shows is computed by the functions that Python and the command line use. The server
(`server.py`, `security.py`) imports none of them; a process of its own (`worker.py`, started by `workers.py`) does each
piece of work (`tasks.py`), so that it can be cancelled, and may crash, without the page.
"""
