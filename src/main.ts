/** The program: `waybill <command>`. Sees to a quick start, then leaves everything to the command line. */
import { keepCompiledCode } from './lib/thread.ts';

// What is made in the data directory is for its owner alone.
process.umask(0o077);
keepCompiledCode();

// Imported only now, so that the cache is on before there is anything to compile.
const { run } = await import('./cli/run.ts');
const { systemClock } = await import('./lib/clock.ts');
const { systemRandom } = await import('./lib/random.ts');
const { processTerminal } = await import('./cli/terminal.ts');

const status = await run(process.argv.slice(2), {
  terminal: processTerminal,
  clock: systemClock,
  random: systemRandom,
});
// Listeners and threads that a failed machine left open must not keep the process.
process.exit(status);
