import { transformer } from 'junctor/transformer';

/** Has a server's chat template think when the client asks for it, and names the kind of request in a header. */
export default transformer({
  name: 'template-options',
  call({ body, request }) {
    return {
      headers: { 'x-request-kind': request.tools.length > 0 ? 'agent' : 'chat' },
      // A client that sets the option itself keeps it.
      ...(body.chat_template_kwargs === undefined && {
        body: { chat_template_kwargs: { enable_thinking: request.reasoning !== undefined } },
      }),
    };
  },
});
