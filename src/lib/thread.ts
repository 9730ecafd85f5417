import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Starts a thread in which the module at `url` runs, with {@link keepCompiledCode}: it is there in a third of the time. */
export function startThread(url: URL, options: Omit<WorkerOptions, 'argv'>): Worker {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
  return new Worker(new URL(`./thread-entry${extension}`, import.meta.url), { ...options, argv: [url.href] });
}

/**
 * Keeps compiled code from one start to the next, for whatever this thread imports from here on: each thread has to ask
 * for itself. In a folder of our own: the default one is shared by all users of the machine, and what is in it is executed.
 */
export function keepCompiledCode(): void {
  enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url)));
}
