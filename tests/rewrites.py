"""Notes of every kind of fact, and how a rewrite loses each of them."""

NOTES = """Date: Mar 6, 2026
* 🔴 (19:02) User travels to Lisbon with Jonas by train
* 🔴 (19:05) The budget is 600 euros
* 🔴 (19:10) Departure is on May 15, 2026
* 🔴 (19:11) Tickets are at https://rail.example/t/88
* 🔴 (19:12) The packing list is in ~/trips/packing.md
* 🔴 (19:13) The reservation is LX-88213
* 🔴 (19:20) User never flies because of the climate
* ✅ (19:30) Sleeping compartments reserved
* 🟢 (19:40) User yawned"""
PLANTED = {"name": ("Jonas", "somebody"), "number": ("600 euros", "limited"), "date": ("May 15, 2026", "in spring"),
           "url": ("https://rail.example/t/88", "online"), "path": ("~/trips/packing.md", "a file"),
           "identifier": ("LX-88213", "made"), "🔴": ("* 🔴 (19:20) User never flies because of the climate\n", ""),
           "✅": ("* ✅ (19:30) Sleeping compartments reserved\n", "")}  # fmt: skip
