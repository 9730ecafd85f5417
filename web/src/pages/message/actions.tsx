import { useNavigate } from '@tanstack/react-router';
import {
  Ban,
  Copy,
  Download,
  EllipsisVertical,
  Link2,
  PenLine,
  RotateCw,
  Send,
  Terminal,
} from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { ConfirmDialog, Dialog } from '../../parts/dialog.tsx';
import { Menu, MenuItem, MenuLine } from '../../parts/menu.tsx';
import { Fetched } from '../../parts/states.tsx';
import { toast } from '../../parts/toast.tsx';
import { useAct, useCall } from '../../queries.ts';
import { useMay, useSession } from '../../session.tsx';
import { ComposeDialog } from '../compose/dialog.tsx';
import type { Story } from './timeline.ts';

type Open = 'cancel' | 'resend' | 'edit' | 'curl' | null;

/** What can be done to a message by the one who looks at it, as it is now. */
export function MessageActions({ story }: { readonly story: Story }) {
  const { id } = story.record;
  const { may } = story;
  const isOperator = useMay('operator');
  // Beside what is nearer at hand then, it stands in the menu.
  const isUnderWay = may.retry || may.cancel;
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const retry = useAct('retryMessage', { changes: ['messages', 'queue'], done: 'It is tried again now.' });
  return (
    <>
      {isOperator && may.retry && (
        <Button look="primary" icon={RotateCw} busy={retry.isPending} onClick={() => retry.mutate({ id })}>
          Retry now
        </Button>
      )}
      {isOperator && may.cancel && (
        <Button icon={Ban} onClick={() => setOpen('cancel')}>
          Cancel
        </Button>
      )}
      {isOperator && may.resend && !isUnderWay && (
        <Button icon={Send} onClick={() => setOpen('resend')}>
          Resend
        </Button>
      )}
      <Menu trigger={<IconButton icon={EllipsisVertical} label="More" className="border border-edge/60" />}>
        {isOperator && may.resend && isUnderWay && (
          <MenuItem icon={Send} onSelect={() => setOpen('resend')}>
            Resend to all
          </MenuItem>
        )}
        {isOperator && story.content.kept && (
          <MenuItem icon={PenLine} onSelect={() => setOpen('edit')}>
            Edit and send again
          </MenuItem>
        )}
        {story.content.kept && (
          <>
            <MenuItem icon={Terminal} onSelect={() => setOpen('curl')}>
              Show as curl
            </MenuItem>
            <MenuItem icon={Download} onSelect={() => downloadSource(id)}>
              Download .eml
            </MenuItem>
            <MenuLine />
          </>
        )}
        <MenuItem icon={Link2} onSelect={() => copy(linkTo(id), 'The link was copied.')}>
          Copy link
        </MenuItem>
        <MenuItem icon={Copy} onSelect={() => copy(id, 'The id was copied.')}>
          Copy id
        </MenuItem>
      </Menu>
      <CancelDialog id={id} open={open === 'cancel'} onClose={close} />
      <ResendDialog id={id} open={open === 'resend'} onClose={close} />
      {open === 'edit' && <ComposeDialog from={{ id }} onClose={close} />}
      {open === 'curl' && <CurlDialog id={id} onClose={close} />}
    </>
  );
}

function linkTo(id: string): string {
  return new URL(`/messages/${id}`, window.location.origin).href;
}

function copy(text: string, done: string): void {
  navigator.clipboard.writeText(text).then(
    () => toast.success(done),
    () => toast.error('The browser does not allow copying.'),
  );
}

/** Saves a message as a file. */
export function downloadSource(id: string): void {
  const link = document.createElement('a');
  link.href = `/api/messages/${encodeURIComponent(id)}/source`;
  link.download = `${id}.eml`;
  link.click();
}

interface ActDialogProps {
  readonly id: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

function CancelDialog({ id, open, onClose }: ActDialogProps) {
  const cancel = useAct('cancelMessage', {
    changes: ['messages', 'queue'],
    done: 'Cancelled.',
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      onConfirm={() => cancel.mutate({ id })}
      title="Cancel sending?"
      confirm="Cancel sending"
      danger
      busy={cancel.isPending}
    >
      <p>
        Recipients that have not been sent to yet will not be. What is under way finishes its attempt; what is
        delivered stays delivered.
      </p>
    </ConfirmDialog>
  );
}

function ResendDialog({ id, open, onClose }: ActDialogProps) {
  const navigate = useNavigate();
  const resend = useAct('resendMessage', {
    changes: ['messages', 'queue'],
    done: 'Sent again, as a new message.',
    onDone: ({ id: next }) => {
      onClose();
      void navigate({ to: '/messages/$id', params: { id: next } });
    },
  });
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      onConfirm={() => resend.mutate({ id })}
      title="Send it again?"
      confirm="Resend"
      busy={resend.isPending}
    >
      <p>
        A new message with the same content goes to all its recipients, those it was delivered to as well. To
        try only the ones that failed, use Retry.
      </p>
    </ConfirmDialog>
  );
}

function CurlDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { apiUrl } = useSession();
  const draft = useCall('messageDraft', { id });
  return (
    <Dialog
      open
      size="large"
      onClose={onClose}
      title="As curl"
      description="Submits the same message by the API. The key comes from the environment variable WAYBILL_KEY."
    >
      <Fetched query={draft}>
        {({ message, notes }) => (
          <div className="space-y-3">
            {notes.map((note) => (
              <p key={note} className="text-sm text-retrying">
                {note}
              </p>
            ))}
            <CodeBlock label="Command" wrap code={curlOf(message, apiUrl ?? 'http://localhost:8025')} />
          </div>
        )}
      </Fetched>
    </Dialog>
  );
}

/** The command that submits a message again. */

/** A word of a command line, whatever is in it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Characters that would make the command look other than it is. */
const TRICKS = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function asJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(
    TRICKS,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Submits `message` to the API at `apiUrl`; the key comes from the environment, so that none is in the history. */
export function curlOf(message: Readonly<Record<string, unknown>>, apiUrl: string): string {
  return [
    `curl ${quoted(`${apiUrl.replace(/\/+$/, '')}/api/v1/messages`)}`,
    '  -H "Authorization: Bearer $WAYBILL_KEY"',
    "  -H 'Content-Type: application/json'",
    `  --data-raw ${quoted(asJson(message))}`,
  ].join(' \\\n');
}
