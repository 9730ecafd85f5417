/**
 * Puts the program into few files, dist/program, packages and all: it starts in half the time, which is most of what tests
 * take that start it hundreds of times. What is given to others is made by tools/build.
 */
import { join } from 'node:path';
import { build } from 'vite';

const ROOT = join(import.meta.dirname, '..');
const ENTRIES = {
  main: 'src/main.ts',
  run: 'src/cli/run.ts',
  'thread-entry': 'src/lib/thread-entry.ts',
  'store-worker': 'src/threads/store-worker.ts',
  'views-worker': 'src/threads/views-worker.ts',
  'backup-worker': 'src/threads/backup-worker.ts',
  'ingest-worker': 'src/threads/ingest-worker.ts',
  'preflight-worker': 'src/preflight/preflight-worker.ts',
  'preview-worker': 'src/preview/preview-worker.ts',
  open: 'src/store/sqlite/open.ts',
  claimer: 'test/cluster/claimer.ts',
};
/** With native code, or looked for by those that have it. */
const EXTERNAL = ['better-sqlite3', 'pg', 'pg-native'];

/** What modules make of where they lie, by module: the same as from source. */
const CHANGES: Readonly<Record<string, readonly [was: string, is: string]>> = {
  'store/sqlite/open.ts': ["'./migrations/'", "'../../src/store/sqlite/migrations/'"],
  'store/postgres/migrate.ts': ["'./migrations/'", "'../../src/store/postgres/migrations/'"],
  'lib/command.ts': ["import.meta.url.endsWith('.ts')", 'true'],
};

await build({
  root: ROOT,
  configFile: false,
  logLevel: 'error',
  publicDir: false,
  plugins: [
    {
      name: 'as-from-source',
      enforce: 'pre',
      transform: (code, id) => {
        const [, place = ''] = id.split(`${ROOT}/src/`);
        const change = CHANGES[place];
        if (change === undefined) return null;
        if (!code.includes(change[0])) throw new Error(`${place} has no ${change[0]} any more`);
        return code.replace(...change);
      },
    },
  ],
  ssr: { noExternal: true, external: EXTERNAL },
  build: {
    ssr: true,
    target: 'node24',
    outDir: 'dist/program',
    minify: false,
    rolldownOptions: {
      input: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(ROOT, path)])),
      external: EXTERNAL,
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
});
