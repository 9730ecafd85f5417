import { useQuery } from '@tanstack/react-query';
import { ApiError } from '../../api.ts';
import { formatBytes } from '../../format.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { Fetched } from '../../parts/states.tsx';

/** No more of a message is read to be shown. */
const MAX_SHOWN_BYTES = 256 * 1024;

/** A message as it was handed on, byte by byte. */
export function SourceView({ id }: { readonly id: string }) {
  const path = `/api/messages/${encodeURIComponent(id)}/source`;
  const source = useQuery<{ text: string; isCut: boolean }, Error>({
    queryKey: ['source', id],
    queryFn: ({ signal }) => readStart(path, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Fetched query={source} lines={8}>
      {({ text, isCut }) => (
        <figure className="min-w-0 rounded-md border border-line bg-paper">
          <figcaption className="flex items-center gap-2 border-b border-line py-1 pr-1 pl-3">
            <span className="caption flex-1">
              {isCut ? `The first ${formatBytes(MAX_SHOWN_BYTES)}` : 'As it is stored'}
            </span>
            <CopyButton text={text} label="Copy source" />
            <a href={path} download={`${id}.eml`} className="link rounded-sm px-2 text-sm">
              Download .eml
            </a>
          </figcaption>
          <pre
            // Keys can scroll what is too long.
            // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
            tabIndex={0}
            dir="ltr"
            className="max-h-[44rem] overflow-auto p-3 font-mono text-sm leading-relaxed break-all whitespace-pre-wrap -outline-offset-2"
          >
            {lines(text)}
          </pre>
        </figure>
      )}
    </Fetched>
  );
}

/** Each line is made plain by itself: one that is very long is cut, and the others are not. */
function lines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => plainText(line))
    .join('\n');
}

async function readStart(path: string, signal: AbortSignal): Promise<{ text: string; isCut: boolean }> {
  const response = await fetch(path, { signal, cache: 'no-store' });
  if (!response.ok) {
    const problem: unknown = await response.json().catch(() => ({ detail: 'The source could not be read.' }));
    throw new ApiError(response.status, problem as ConstructorParameters<typeof ApiError>[1]);
  }
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = '';
  let bytes = 0;
  let isCut = false;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value.subarray(0, MAX_SHOWN_BYTES - bytes), { stream: true });
    bytes += value.byteLength;
    if (bytes <= MAX_SHOWN_BYTES) continue;
    isCut = true;
    await reader.cancel();
    break;
  }
  return { text, isCut };
}
