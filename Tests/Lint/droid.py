"""redbot against one URL: droid.py URL writes a line for each of its notes, of its first request and of those that it makes for
conditions, ranges and codings: level, name, subject and summary."""

import sys
from configparser import ConfigParser

import thor
from redbot.resource import HttpResource

settings = ConfigParser()
settings.read_dict({"redbot": {"enable_local_access": "True"}})
resource = HttpResource(settings["redbot"])
resource.set_request(sys.argv[1])


@thor.events.on(resource)
def check_done():
    thor.stop()


resource.check()
thor.run()
if resource.fetch_error:
    print(f"bad fetch  {resource.fetch_error.desc} {resource.fetch_error.detail}")
for part in [resource, *resource.subreqs.values()]:
    for note in part.response.notes:
        print(note.level.value, type(note).__name__, note.subject or "-", note.summary, sep="\t")
