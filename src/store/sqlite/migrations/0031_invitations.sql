-- By which message a set-up link was sent, and to whom.

ALTER TABLE setup_links ADD COLUMN mailed_to TEXT;        -- null: nobody; it was handed over
ALTER TABLE setup_links ADD COLUMN message TEXT;          -- its id
