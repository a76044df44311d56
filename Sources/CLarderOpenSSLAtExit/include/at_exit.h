// The Swift package manager requires a header of each C target. Nothing calls this target: at_exit.c says what it does.
#pragma once
