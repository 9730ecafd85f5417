import type { MessageRecord } from '../../domain/message.ts';
import { Problem } from '../../http/problem.ts';
import { type Spool, type SpoolContent, SpoolError } from '../../spool/spool.ts';
import { contentExpired } from './find-message.ts';

/**
 * A message's content, to be used at once: it is opened, and a piece that cannot be read later throws `SpoolError`.
 * Throws the problem `content_expired` with this status when it is no longer kept, and 503 when it cannot be read
 * now.
 */
export async function openContent(
  { content }: MessageRecord,
  spool: Pick<Spool, 'read'>,
  expired: 404 | 409,
): Promise<SpoolContent> {
  if (content === null) throw contentExpired(expired);
  return await readOr(expired, () => spool.read(content));
}

/** As {@link openContent}, read whole into memory. */
export async function readContent(
  message: MessageRecord,
  spool: Pick<Spool, 'read'>,
  expired: 404 | 409,
): Promise<Buffer> {
  const content = await openContent(message, spool, expired);
  return await readOr(expired, async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content.chunks()) chunks.push(chunk);
    return Buffer.concat(chunks, content.sizeBytes);
  });
}

async function readOr<T>(expired: 404 | 409, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof SpoolError) || error.code === 'content_damaged') throw error;
    // Retention may remove it between our look at the record and now.
    if (error.code === 'content_missing') throw contentExpired(expired);
    throw new Problem(503, 'store_unavailable', 'The content cannot be read now; try again soon.', {
      headers: { 'Retry-After': '1' },
    });
  }
}
