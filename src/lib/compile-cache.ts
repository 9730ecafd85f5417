import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Keeps compiled code from one start to the next, for whatever this thread imports from here on: each thread has to ask
 * for itself. In a folder of our own: the default one is shared by all users of the machine, and what is in it is executed.
 */
export function keepCompiledCode(): void {
  enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url)));
}
