"""The thinking: who observes and reflects, and when. Operations run this."""
