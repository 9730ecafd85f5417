import type { RequestOf, ResultOf } from '../../../../src/operations/table.ts';
import { ActionForm } from '../../parts/form.tsx';
import { TextField } from '../../parts/text-field.tsx';

type AllowList = RequestOf<'allowSource'>['setting'];

const MEANINGS: Readonly<Record<AllowList, string>> = {
  'listener.allowed_cidrs': 'It may then send mail to anybody over SMTP through this server, without a key.',
  'api.allowed_cidrs': 'It may then use the API; each request still needs a key.',
  'hooks.allowed_cidrs':
    'It may then use the paths that take no key: those of webhooks and of unsubscribing.',
  'webui.allowed_cidrs': 'It may then open this dashboard; signing in is needed as before.',
};

/** Asks whether a refused source is to be allowed, and as what range. */
export default function AllowDialog({
  denied: { sourceAddress, setting },
  onClose,
}: {
  readonly denied: Pick<ResultOf<'denials'>[number], 'sourceAddress' | 'setting'>;
  readonly onClose: () => void;
}) {
  if (setting === null) return null;
  return (
    <ActionForm
      sheet={{ title: `Allow ${sourceAddress}?`, size: 'small' }}
      operation="allowSource"
      initial={{ cidr: `${sourceAddress}/${sourceAddress.includes(':') ? 128 : 32}` }}
      request={({ cidr }) => ({ setting, cidr: cidr.trim() })}
      done={`${sourceAddress} is allowed now`}
      onDone={onClose}
      submit="Allow"
      cancel="Keep refusing"
      onClose={onClose}
    >
      {({ field }) => (
        <>
          <p>
            {MEANINGS[setting]} Adds to <code className="font-mono text-sm">{setting}</code>, and takes effect
            at once.
          </p>
          <TextField
            label="Address range"
            hint="A range such as 192.168.4.0/24 allows a whole network."
            mono
            verbatim
            {...field('cidr')}
          />
        </>
      )}
    </ActionForm>
  );
}
