import { Download } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { SessionCalls } from '../../../../src/dashboard/contract.ts';
import { Button } from '../../parts/button.tsx';
import { Copyable, CopyButton } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { refreshSession, useSession } from '../../session.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { QrCode } from './qr-code.tsx';
import { useSessionAct } from './use-session-act.ts';

type Begun = SessionCalls['totp_begin']['answer'];

/** Sets up a second factor: password, QR code, first code, recovery codes. */
export function SetUpSecondFactor({ onClose }: { readonly onClose: () => void }) {
  const begin = useSessionAct('totp_begin', { quiet: true });
  const confirm = useSessionAct('totp_confirm', { quiet: true });
  const close = () => {
    if (confirm.data) refreshSession();
    onClose();
  };
  if (confirm.data) return <RecoveryCodes codes={confirm.data.recoveryCodes} onClose={close} />;
  if (begin.data)
    return (
      <FirstCode
        begun={begin.data}
        busy={confirm.isPending}
        error={confirm.error}
        onConfirm={(code) => confirm.mutate({ code })}
        onClose={onClose}
      />
    );
  return (
    <PasswordDialog
      title="Set up a second factor"
      confirm="Go on"
      busy={begin.isPending}
      error={begin.error}
      onConfirm={(password) => begin.mutate({ password })}
      onClose={onClose}
    >
      You need an authenticator app, such as Aegis, 2FAS, or the one in your password manager.
    </PasswordDialog>
  );
}

function FirstCode({
  begun,
  busy,
  error,
  onConfirm,
  onClose,
}: {
  readonly begun: Begun;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onConfirm: (code: string) => void;
  readonly onClose: () => void;
}) {
  const [code, setCode] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onConfirm(code.replace(/\s/g, ''));
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Scan this with your app"
      description="Nothing changes until the first code was right."
    >
      <form onSubmit={submit} className="space-y-4">
        <div className="flex flex-wrap items-start gap-5">
          <QrCode rows={begun.qr} label="QR code for your authenticator app" />
          <div className="min-w-0 flex-1 basis-52 space-y-3">
            <div>
              <div className="font-medium">Or type this key into it</div>
              <Copyable text={begun.secret} />
            </div>
            <a href={begun.url} className="link text-sm">
              Open it in an app on this device
            </a>
          </div>
        </div>
        <TextField
          label="The code that it shows now"
          className="max-w-56"
          mono
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          maxLength={12}
          value={code}
          onChange={setCode}
          error={error?.message}
        />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={busy}>
            Turn it on
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function RecoveryCodes({
  codes,
  onClose,
}: {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}) {
  const { user } = useSession();
  const text = `Waybill recovery codes of ${user.name}. Each works once.\n\n${codes.join('\n')}\n`;
  return (
    <Dialog
      open
      // Whoever closes this by a slip has lost them: only the button does.
      onClose={() => {}}
      title="Keep these recovery codes"
      description="Each signs you in once when you do not have your app. They are shown this once."
      footer={
        <>
          <CopyButton text={text} label="Copy the recovery codes">
            Copy
          </CopyButton>
          <a
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
            download="waybill-recovery-codes.txt"
            className="inline-flex h-7.5 items-center gap-1.5 rounded-md border border-edge/60 bg-surface px-2.5 text-sm font-medium hover:border-edge hover:bg-sunken"
          >
            <Download aria-hidden size={14} /> Download
          </a>
          <Button look="primary" onClick={onClose}>
            I have kept them
          </Button>
        </>
      }
    >
      <ol className="grid grid-cols-1 gap-x-6 gap-y-1 rounded-md border border-line bg-paper px-4 py-3 font-mono sm:grid-cols-2">
        {codes.map((code) => (
          <li key={code} className="select-all">
            {code}
          </li>
        ))}
      </ol>
    </Dialog>
  );
}
