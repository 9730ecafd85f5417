-- compatible-with: 3
-- What a next hop took under one id, from the newest on: a peer may give all mail the same.
DROP INDEX deliveries_by_provider_id;
CREATE INDEX deliveries_by_provider_id ON deliveries (provider_message_id, message) WHERE provider_message_id IS NOT NULL;
