"""HTTP for stores that are servers: where it is, how it is asked, how answers are paged.

`endpoint_of` reads a source's URL with its credentials, `Http` asks with timeouts and retries, and
`newest_first` walks a search that can only be limited, by splitting the time that it asks for.
"""

from itemtrace.stores.http.endpoint import Endpoint, endpoint_of
from itemtrace.stores.http.session import Answer, Http
from itemtrace.stores.http.windows import Found, Page, Paging, newest_first


__all__ = [
    "Answer",
    "Endpoint",
    "Found",
    "Http",
    "Page",
    "Paging",
    "endpoint_of",
    "newest_first",
]
