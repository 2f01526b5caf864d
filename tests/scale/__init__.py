"""The same storm as in `chaos/` on more than one server: Sentinel, RabbitMQ, a Cluster, and one server to compare with."""
