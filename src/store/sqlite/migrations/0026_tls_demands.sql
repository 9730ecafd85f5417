-- What the sender demands of TLS on the way (RFC 8689): required, optional; null: nothing.
ALTER TABLE messages ADD COLUMN tls TEXT;
