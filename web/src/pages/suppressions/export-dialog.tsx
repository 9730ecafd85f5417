import { Download } from 'lucide-react';
import { useEffect, useState } from 'react';
import { call } from '../../api.ts';
import { plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { saveBlob } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Progress } from '../../parts/progress.tsx';
import { useRun } from '../../parts/run.tsx';
import { Banner } from '../../parts/states.tsx';

/** Pages are handed to the browser in such lots, which it may put on disk. */
const LOT_PAGES = 50;

/** Writes the whole list into a file, tells how far it is, and can be stopped. */
export function ExportDialog({ onClose }: { readonly onClose: () => void }) {
  const [entries, setEntries] = useState(0);
  const { state, error, start } = useRun(async (signal) => {
    const type = 'text/csv';
    let whole = new Blob([], { type });
    let lot: string[] = [];
    let count = 0;
    for (let cursor: string | null = null, pages = 1; ; pages++) {
      const page: Awaited<ReturnType<typeof call<'exportSuppressions'>>> = await call(
        'exportSuppressions',
        { cursor },
        signal,
      );
      lot.push(page.text);
      count += page.entries;
      setEntries(count);
      if (page.next === null || pages % LOT_PAGES === 0) {
        whole = new Blob([whole, ...lot], { type });
        lot = [];
      }
      if (page.next === null) break;
      cursor = page.next;
    }
    if (!signal.aborted) saveBlob(whole, `waybill-suppressions-${new Date().toISOString().slice(0, 10)}.csv`);
  });
  useEffect(start, [start]);
  return (
    <Dialog
      onClose={onClose}
      title="Export the list"
      size="small"
      footer={
        <Button
          look={state === 'done' ? 'primary' : 'plain'}
          label={state === 'running' ? 'Stop' : state === 'done' ? 'Done' : 'Close'}
          onClick={onClose}
        />
      }
    >
      <div className="space-y-3">
        <p>Every entry of the list, as CSV. It can be imported again, here or elsewhere.</p>
        {state === 'running' && <Progress label="Export" value={null} />}
        <p role="status" className="flex items-center gap-2">
          {state === 'done' && <Download aria-hidden size={16} className="text-delivered" />}
          {plural(entries, 'entry', 'entries')}
          {state === 'done' && ', saved where this browser keeps downloads'}
        </p>
        {error !== null && (
          <Banner level="critical" title="The export ended early">
            {error} Nothing was saved.
          </Banner>
        )}
      </div>
    </Dialog>
  );
}
