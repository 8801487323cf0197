"""The interrupt bridge: agents' pending questions to Kafka, validated resume commands back."""
