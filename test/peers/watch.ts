import { watch } from 'node:fs';

/**
 * Looks now, and whenever something changes in `folder`, until `look` gives a value. Throws when `look` does, or
 * when `signal` aborts before.
 */
export async function untilFound<T>(
  folder: string,
  look: () => T | null | undefined,
  signal?: AbortSignal,
): Promise<T> {
  const watcher = watch(folder);
  try {
    return await new Promise((resolve, reject) => {
      const again = () => {
        try {
          const found = look();
          if (found !== null && found !== undefined) resolve(found);
        } catch (error) {
          reject(error);
        }
      };
      signal?.addEventListener('abort', () => reject(signal.reason));
      watcher.on('change', again);
      again();
    });
  } finally {
    watcher.close();
  }
}
