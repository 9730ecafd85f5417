import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { type ResourceLimits, Worker, type WorkerOptions } from 'node:worker_threads';

/** What a thread is started with. */
export interface ThreadOptions extends Omit<WorkerOptions, 'argv'> {
  /** The nursery is three semi-spaces. Without a limit, two of them were seen to grow to 128 MiB. */
  readonly resourceLimits: ResourceLimits & { readonly maxYoungGenerationSizeMb: number };
}

/** Starts a thread that runs the module at `url`, with {@link keepCompiledCode}: it starts in a third of the time. */
export function startThread(url: URL, options: ThreadOptions): Worker {
  // The command line has it for the main thread, which has read it; V8 would put it above the limit of this one.
  setFlagsFromString('--max-semi-space-size=0');
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
  return new Worker(new URL(`./thread-entry${extension}`, import.meta.url), { ...options, argv: [url.href] });
}

/**
 * Caches compiled code between starts, for whatever this thread imports from here on: each thread must enable it. In a
 * folder of our own: the default one is shared by all users of the machine, and its contents are executed.
 */
export function keepCompiledCode(): void {
  enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url)));
}
