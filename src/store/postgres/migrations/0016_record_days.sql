-- compatible-with: 3
-- Days that records of the key's mail are kept after the final status, if fewer than configured; null: as configured.
ALTER TABLE keys ADD COLUMN record_days integer;
