import { Download, Paperclip } from 'lucide-react';
import { Badge } from '../../parts/badge.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { Said } from '../../parts/said.tsx';
import { EmptyState } from '../../parts/states.tsx';
import { Bytes } from '../../parts/values.tsx';
import type { Preview } from './contents.tsx';

/** The files in a message. They are only ever saved, never shown here. */
export function AttachmentList({
  id,
  attachments,
}: {
  readonly id: string;
  readonly attachments: Preview['attachments'];
}) {
  if (attachments.length === 0) return <EmptyState icon={Paperclip} title="No attachments" />;
  return (
    <ul className="divide-y divide-line rounded-md border border-line">
      {attachments.map(({ number, filename, contentType, sizeBytes, inline }) => (
        <li key={number} className="flex items-center gap-3 px-3 py-2">
          <Paperclip aria-hidden size={15} className="shrink-0 text-soft" />
          <div className="min-w-0 flex-1">
            <Said text={filename} none="(no name)" className="font-medium" />
            <div className="flex min-w-0 items-center gap-2 text-sm text-soft">
              <Said text={contentType} className="min-w-0" />
              <Bytes bytes={sizeBytes} />
              {inline && <Badge>Inline</Badge>}
            </div>
          </div>
          <a
            href={`/api/messages/${encodeURIComponent(id)}/parts/${number}`}
            download
            aria-label={`Download ${plainText(filename)}`}
            className="flex size-9 shrink-0 items-center justify-center rounded-md text-soft hover:bg-sunken hover:text-ink"
          >
            <Download aria-hidden size={16} />
          </a>
        </li>
      ))}
    </ul>
  );
}
