import { useNavigate } from '@tanstack/react-router';
import {
  Ban,
  Copy,
  Download,
  Link2,
  MoreHorizontal,
  PenLine,
  RotateCw,
  Send,
  Share2,
  Terminal,
} from 'lucide-react';
import { useState } from 'react';
import { ask } from '../../parts/ask.tsx';
import { Button, IconButton } from '../../parts/button.tsx';
import { CodeBlock, copyText, saveFile } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Menu, MenuItem, MenuLine } from '../../parts/menu.tsx';
import { Fetched } from '../../parts/states.tsx';
import { toast } from '../../parts/toast.tsx';
import { useAct, useCall } from '../../queries.ts';
import { useMay, useSession } from '../../session.tsx';
import { ComposeDialog } from '../compose/dialog.tsx';
import { curlOf } from './curl.ts';
import type { Story } from './story.ts';
import { ShareStory } from './story-links.tsx';

/** What can be done to a message by the one who looks at it, as it is now. */
export function MessageActions({ story }: { readonly story: Story }) {
  const { id } = story.record;
  const { may } = story;
  const isOperator = useMay('operator');
  // Beside what is nearer at hand then, it stands in the menu.
  const isUnderWay = may.retry || may.cancel;
  const [open, setOpen] = useState<'edit' | 'curl' | 'share' | null>(null);
  const close = () => setOpen(null);
  const navigate = useNavigate();
  const resend = () =>
    askToResend(id, (sent) => void navigate({ to: '/messages/$id', params: { id: sent.id } }));
  const retry = useAct('retryMessage', { done: 'It is tried again now.' });
  return (
    <>
      {isOperator && may.retry && (
        <Button
          look="primary"
          icon={RotateCw}
          label="Retry now"
          busy={retry.isPending}
          onClick={() => retry.mutate({ id })}
        />
      )}
      {isOperator && may.cancel && <Button icon={Ban} label="Cancel" onClick={() => askToCancel(id)} />}
      {isOperator && may.resend && !isUnderWay && <Button icon={Send} label="Resend" onClick={resend} />}
      <Menu trigger={<IconButton icon={MoreHorizontal} label="More" />}>
        {isOperator && may.resend && isUnderWay && (
          <MenuItem icon={Send} label="Resend to all" onSelect={resend} />
        )}
        {isOperator && story.content.kept && (
          <MenuItem icon={PenLine} label="Edit and send again" onSelect={() => setOpen('edit')} />
        )}
        {story.content.kept && (
          <>
            <MenuItem icon={Terminal} label="Show as curl" onSelect={() => setOpen('curl')} />
            <MenuItem icon={Download} label="Download .eml" onSelect={() => downloadSource(id)} />
            <MenuLine />
          </>
        )}
        <MenuItem
          icon={Link2}
          label="Copy link"
          onSelect={() => copyText(linkTo(id), () => toast.success('The link was copied.'))}
        />
        {isOperator && <MenuItem icon={Share2} label="Share by a link…" onSelect={() => setOpen('share')} />}
        <MenuItem
          icon={Copy}
          label="Copy id"
          onSelect={() => copyText(id, () => toast.success('The id was copied.'))}
        />
      </Menu>
      {open === 'edit' && <ComposeDialog from={{ id }} onClose={close} />}
      {open === 'curl' && <CurlDialog id={id} onClose={close} />}
      {open === 'share' && <ShareStory message={story.record} onClose={close} />}
    </>
  );
}

function linkTo(id: string): string {
  return new URL(`/messages/${id}`, window.location.origin).href;
}

/** Saves a message as a file. */
export function downloadSource(id: string): void {
  saveFile(`/api/messages/${encodeURIComponent(id)}/source`, `${id}.eml`);
}

function askToCancel(id: string): void {
  ask('cancelMessage', {
    request: { id },
    done: 'Cancelled.',
    title: 'Cancel sending?',
    text: 'Waiting recipients will not get it. Attempts in progress finish; delivered copies stay delivered.',
    confirm: 'Cancel sending',
    danger: true,
  });
}

function askToResend(id: string, onDone: (sent: { readonly id: string }) => void): void {
  ask('resendMessage', {
    request: { id },
    done: 'Sent again, as a new message.',
    onDone,
    title: 'Send it again?',
    text: 'A new message with the same content goes to all its recipients, including those that already have it. To send only to failed ones, use Retry.',
    confirm: 'Resend',
  });
}

function CurlDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { apiUrl } = useSession();
  const draft = useCall('messageDraft', { id });
  return (
    <Dialog
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
