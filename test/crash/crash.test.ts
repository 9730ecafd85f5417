/** {@link surviveKills} over the files of a data directory. */
import { test } from 'vitest';
import { times } from '../support/proof.ts';
import { messagesIn, readStore } from './book.ts';
import { surviveKills } from './kills.ts';

const CYCLES = times('crashes', 4);

test(
  `nothing acknowledged is lost over ${CYCLES} kills, no second copy goes unflagged, and who is refused is reported`,
  {
    timeout: 240_000 + CYCLES * 12_000,
  },
  (context) =>
    surviveKills(
      context,
      { store: 'SQLite', settings: '', messages: ({ dataDir }) => readStore(dataDir, messagesIn) },
      CYCLES,
    ),
);
