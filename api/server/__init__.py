"""The server's processes: sockets, HTTP/1.1, threads and what each account may hold of them."""
