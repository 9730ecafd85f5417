/** The address of a worker beside this file: `.ts` when run from source, `.js` when compiled. */
export function workerUrl(name: 'store-worker' | 'views-worker' | 'backup-worker' | 'ingest-worker'): URL {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
  return new URL(`./${name}${extension}`, import.meta.url);
}
