import { Download, ShieldCheck, ShieldOff } from 'lucide-react';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { SessionCalls } from '../../../../src/dashboard/contract.ts';
import { faultsOf } from '../../faults.ts';
import { plural } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { Banner } from '../../parts/banner.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Copyable, CopyButton } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { SecretField, TextField } from '../../parts/text-field.tsx';
import { refreshSession, setSession, useSession } from '../../session.tsx';
import { useSessionAct } from './use-session-act.ts';

type Begun = SessionCalls['totp_begin']['answer'];

/** Sets up a second factor: password, QR code, first code, recovery codes. */
function SetUpSecondFactor({ onClose }: { readonly onClose: () => void }) {
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

/** Light modules around a code, so that cameras find it. */
const QUIET = 3;

/** A QR code from its rows, `1` for black. Always dark on light: cameras want it so. */
function QrCode({ rows, label }: { readonly rows: readonly string[]; readonly label: string }) {
  const size = rows.length + QUIET * 2;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-44 shrink-0 rounded-md border border-line"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={qrPath(rows)} fill="#000" />
    </svg>
  );
}

/** The black modules as one path: a run of them is one rectangle. */
export function qrPath(rows: readonly string[]): string {
  return rows
    .flatMap((row, y) =>
      [...row.matchAll(/1+/g)].map(
        ({ index, 0: run }) => `M${index + QUIET} ${y + QUIET}h${run.length}v1h-${run.length}z`,
      ),
    )
    .join('');
}

/** So few recovery codes are few. */
const FEW_CODES = 3;

/** The second factor: whether there is one, and how to set it up or take it away. */
export function SecondFactorCard() {
  const { user } = useSession();
  const [asked, setAsked] = useState<'set-up' | 'remove' | null>(null);
  const close = () => setAsked(null);
  return (
    <Card
      title={
        <span className="inline-flex items-center gap-2">
          Second factor{' '}
          {user.secondFactor ? (
            <Badge tone="good" dot>
              On
            </Badge>
          ) : (
            <Badge dot>Off</Badge>
          )}
        </span>
      }
    >
      <div className="space-y-4">
        <p className="max-w-prose text-soft">
          {user.secondFactor
            ? `After your password you are asked for a code of your authenticator app. ${plural(user.recoveryCodesLeft, 'recovery code')} left.`
            : 'With a second factor a stolen password is not enough: you are asked for a code of an app on your phone, too.'}
        </p>
        {user.secondFactor && user.recoveryCodesLeft < FEW_CODES && (
          <Banner level="warning" title="Few recovery codes are left">
            Set the second factor up anew to get new ones.
          </Banner>
        )}
        <div className="flex flex-wrap gap-2">
          <Button icon={ShieldCheck} onClick={() => setAsked('set-up')}>
            {user.secondFactor ? 'Set up anew' : 'Set up'}
          </Button>
          {user.secondFactor && (
            <Button look="quiet" icon={ShieldOff} onClick={() => setAsked('remove')}>
              Take away
            </Button>
          )}
        </div>
      </div>
      {asked === 'set-up' && <SetUpSecondFactor onClose={close} />}
      {asked === 'remove' && <RemoveSecondFactor onClose={close} />}
    </Card>
  );
}

function RemoveSecondFactor({ onClose }: { readonly onClose: () => void }) {
  const remove = useSessionAct('totp_remove', {
    quiet: true,
    done: 'The second factor is taken away',
    onDone: (view) => {
      setSession(view);
      onClose();
    },
  });
  return (
    <PasswordDialog
      title="Take the second factor away?"
      confirm="Take it away"
      danger
      busy={remove.isPending}
      error={remove.error}
      onConfirm={(password) => remove.mutate({ password })}
      onClose={onClose}
    >
      From then on your password alone is enough to sign in. Your recovery codes end, too.
    </PasswordDialog>
  );
}

/** Asks for the password once more, before something that only its owner may do. */
function PasswordDialog({
  title,
  confirm,
  danger = false,
  busy,
  error,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  readonly confirm: string;
  readonly danger?: boolean;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onConfirm: (password: string) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { user } = useSession();
  const [password, setPassword] = useState('');
  const faults = faultsOf(error, ['password']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onConfirm(password);
  };
  return (
    <Dialog open onClose={onClose} size="small" title={title}>
      <form onSubmit={submit} className="space-y-4">
        <p>{children}</p>
        <input type="text" name="username" autoComplete="username" value={user.name} readOnly hidden />
        <SecretField
          label="Your password"
          name="password"
          autoComplete="current-password"
          required
          maxLength={1024}
          value={password}
          onChange={setPassword}
          error={faults.fields['password']}
        />
        <FormError>{faults.rest}</FormError>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={danger ? 'danger' : 'primary'} busy={busy}>
            {confirm}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
