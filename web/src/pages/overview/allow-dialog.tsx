import { useState } from 'react';
import type { RequestOf, ResultOf } from '../../../../src/operations/table.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { useAct } from '../../queries.ts';

type Denied = ResultOf<'denials'>[number];
type AllowList = RequestOf<'allowSource'>['setting'];

const MEANINGS: Readonly<Record<AllowList, string>> = {
  'listener.allowed_cidrs': 'It may then send mail by SMTP through this server without a key, to anywhere.',
  'api.allowed_cidrs': 'It may then use the API; each request still needs a key.',
  'webui.allowed_cidrs': 'It may then open this dashboard; signing in is needed as before.',
};

/** Asks whether a refused source is to be allowed, and as what range. */
export default function AllowDialog({
  denied,
  onClose,
}: {
  readonly denied: Denied;
  readonly onClose: () => void;
}) {
  const { sourceAddress, setting } = denied;
  const [cidr, setCidr] = useState(`${sourceAddress}/${sourceAddress.includes(':') ? 128 : 32}`);
  const allow = useAct('allowSource', {
    changes: ['denials', 'settings'],
    done: `${cidr} is allowed now`,
    quiet: true,
    onDone: onClose,
  });
  if (setting === null) return null;
  return (
    <Dialog
      open
      onClose={onClose}
      size="small"
      title={`Allow ${sourceAddress}?`}
      footer={
        <>
          <Button onClick={onClose}>Keep refusing</Button>
          <Button
            look="primary"
            busy={allow.isPending}
            onClick={() => allow.mutate({ setting, cidr: cidr.trim() })}
          >
            Allow
          </Button>
        </>
      }
    >
      <p className="mb-4">
        {MEANINGS[setting]} Adds to <code className="font-mono text-sm">{setting}</code>, and holds at once.
      </p>
      <TextField
        label="Address range"
        hint="A range such as 192.168.4.0/24 allows a whole network."
        value={cidr}
        onChange={setCidr}
        mono
        error={allow.error?.message}
      />
    </Dialog>
  );
}
