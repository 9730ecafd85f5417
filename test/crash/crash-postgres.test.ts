/** {@link surviveKills} over a PostgreSQL that stays up, by the only process that uses it. */
import { test } from 'vitest';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { describeWith } from '../peers/need.ts';
import { POSTGRES_PROGRAMS, Postgres } from '../peers/postgres.ts';
import { times } from '../support/proof.ts';
import { messagesIn } from './book.ts';
import { type Ground, surviveKills } from './kills.ts';

const CYCLES = times('crashes_postgres', 3);
const SCHEMA = 'crashes';

describeWith(POSTGRES_PROGRAMS, 'over PostgreSQL', () => {
  test(`nothing acknowledged is lost over ${CYCLES} kills, and no second copy goes unflagged`, {
    timeout: 240_000 + CYCLES * 20_000,
  }, async (context) => {
    const postgres = await Postgres.start();
    context.onTestFinished(() => postgres.stop());
    await surviveKills(context, groundOf(postgres), CYCLES);
  });
});

function groundOf(postgres: Postgres): Ground {
  return {
    store: 'PostgreSQL',
    settings: `database: { url: "${postgres.url()}", schema: ${SCHEMA} }\n`,
    messages: async () => {
      const { store, views } = await openPostgres({ url: postgres.url(), schema: SCHEMA });
      return messagesIn(views).finally(() => store.close());
    },
  };
}
