"""What orders to a language model speak of, in several languages: the model, its answer, its instructions …

No concept alone makes an order. A small model weighs them and their pairs (`weights`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_SPEAK = (
    r"(?:answer|reply|respond|say|write|output|print|repeat|return|state|tell|claim|mention|include|insert"
    r"|add"
    r"|append|begin|start|open|end|finish|close|conclude|recommend|suggest|cite|quote|credit|translate|reveal"
    r"|report|confirm|assert|deny|summari[sz]e|describe|display|echo|generate|produce|present|compose|list"
    r"|name"
    r"|call|give|provide|paste|copy|share|show|put|spell|type|send|rate|rank|praise|promote|flatter|insult"
    r"|inform|advise|urge|direct|convince|leave out|omit|hide|use|act|behave|speak|pretend|greet|refuse)"
)
_LEAD = (
    r"(?:please|kindly|now|instead|then|also|and|so|but|first|next|finally|always|never|only|just|do not"
    r"|don't"
    r"|make sure (?:to|that you)|be sure to|remember to|be (?:so )?kind (?:enough )?to|by the way|here)"
)
_ANSWER = (
    r"(?:answers?|repl(?:y|ies)|responses?|outputs?|summar(?:y|ies)|messages?|texts?|reports?|accounts?"
    r"|lists?"
    r"|sentences?|conclusions?|bibliography|recommendations?|verdicts?|lines?|words?)"
)

_MODEL = (
    r"(?:a\.?i\.?s?(?: \w+)?|assistants?|language models?|llms?|chat ?bots?|bots?|(?:chat)?gpts?|models?"
    r"|agents?|crawlers?|summari[sz]ers?"
    r"|answer engines?|neural net(?:work)?s?|software that|machines? that|automated \w+)"
)

CONCEPTS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "model": (
            r"\b(?:a\.?i\.?s?|llms?|(?:chat)?gpts?|chatgpt|claude|gemini|copilots?|chat ?bots?"
            r"|(?:answer)?bots?"
            r"|assistants?|assistentin|language models?|neural net(?:work)?s?|artificial intelligence"
            r"|(?:answer|generative|generating) (?:engines?|systems?)|agents?|summari[sz]ers?|crawlers?"
            r"|robots?"
            r"|automated (?:readers?|systems?)|machines? (?:readers?|that)|retrieval systems?|machine-written"
            r"|ki|ki-\w+|künstliche\w* intelligenz|sprachmodell\w*|ia|modèles? de langage"
            r"|intelligence artificielle"
            r"|assistants? ia|inteligencia artificial|inteligência artificial|assistent[ei]s? (?:de )?ia"
            r"|ассистент\w*|modelos? de (?:lenguaje"
            r"|linguagem)"
            r"|intelligenza artificiale|modelli linguistici|robots? qui|ИИ|искусственн\w+ интеллект\w*"
            r"|языков\w+ модел\w+"
            r"|model\w* językow\w*|yapay zek[aâ]\w*|taalmodel\w*)\b"
            r"|AI(?=[\u3040-\u9fff])|アシスタント|人工智能|语言模型|AI助手|人工知能|言語モデル"
            r"|인공지능|언어 모델|الذكاء الاصطناعي|नमूने"
        ),
        "some_model": (
            r"\b(?:models?|engines?|generators?|operators?|software|systems?|machines?|programs?)\b"
        ),
        "reading": (
            r"\b(?:reads?|reading|process(?:es|ing)?|pars(?:es?|ing)|summari[sz](?:es?|ing)|index(?:es"
            r"|ing)?|digests?"
            r"|comes? across|context window|composes?|generat(?:es?|ing)|trained on)\b.{0,20}\b(?:this"
            r"|these|it|the (?:reply|answer)"
            r"|answers?|texts?)\b|(?:diesen text|cette page|ce texte|este texto|esta página|questa pagina)"
        ),
        "your_answer": (
            rf"\byour (?:\w+ ){{0,2}}?{_ANSWER}\b|\b(?:what|whatever|all|everything|text|sentences?"
            rf"|facts?) (?:that )?you"
            r" (?:will )?(?:write|generate|say|produce|state|tell|report)\b|\b(?:deine[rmns]?|ihre[rmns]?"
            r"|eure[rmns]?)"
            r" (?:antwort|ausgabe|zusammenfassung|system)|\b(?:ta|votre) réponse|\b(?:ton|votre) (?:résumé"
            r"|prompt)"
            r"|\btu (?:respuesta|resumen|mensaje)|\b(?:la )?tua risposta|\btuo riassunto|\b(?:sua"
            r"|tua) resposta"
            r"|\bтво\w+ ответ\w*|你的(?:回答|回复|答案|摘要|输出|系统)|あなたの(?:回答|答え)"
        ),
        "answer": (
            rf"\b(?:an?|the|any|every|each|final|only|right|correct|acceptable"
            rf"|permissible) (?:\w+ )?{_ANSWER}\b"
        ),
        "order_first": rf"^\W*(?:{_LEAD}\b\W*)*{_SPEAK}\b",
        # Bounded, since each sign of a long run of them would look to the end of the run.
        "order_later": rf"[,;:.!?—–)\]>]\W{{0,10}}(?:{_LEAD}\b\W{{0,10}}){{0,5}}{_SPEAK}\b",
        "speak": rf"\b{_SPEAK}(?:s|ing)?\b",
        "speak_elsewhere": (
            r"\b(?:antworte\w*|schreibe?\w*|sage?n?|nenne\w*|gib|gebt|zitier\w*|wiederhol\w*|empfehl\w*"
            r"|erwähn\w*|verrat\w*|beende\w*"
            r"|répon\w+|écri[st]\w*|dis|dites|cite[rz]?|répète\w*|recommand\w*|affiche\w*|ajoute\w*"
            r"|termine\w*|respond[ea]\w*|escrib\w+"
            r"|di|dile|diga\w*|cita\w*|repit\w+|recomend\w+|recomiend\w+|muestra|añad\w+|rispond\w+"
            r"|scriv\w+|consigli\w*|ripeti\w*"
            r"|escrev\w+|diga|ответ\w*|напиш\w*|скажи\w*|рекоменд\w*|повтори\w*|schrijf|antwoord|zeg|napisz"
            r"|yaz|viết)\b"
            r"|回答|输出|写|说|告诉|引用|推荐|重复|答え|書い|出力|勧め|답하|쓰세요|출력|추천|اكتب|أجب|लिखें"
        ),
        "command": (
            r"^\W*(?:please |kindly |now |then |use the \w+(?: tool)? (?:to )?)*(?:call|visit|open|execute"
            r"|run|fetch|browse|use|save|store"
            r"|remember|download|navigate|go to|invoke|search|take|turn|switch|change|replace|swap|make"
            r"|treat|consider|follow|keep|prefer"
            r"|invent|explain|associate|rely|give more|base|stop|count|imagine|become|obey|agree)\b"
        ),
        "in_manner": (
            r"\b(?:reply|respond|answer|speak|write|talk|output)(?: \w+){0,3} (?:in (?:the (?:form|style"
            r"|voice|manner) of|\w+$|capitals|latin|rhymes?"
            r"|french|german|spanish|morse|klingon|one word|verse)|as an?|like an?|backwards|using)\b"
            r"|\b(?:reply|respond|answer|output) (?:in|with) \w+\W*$"
        ),
        "ask": (
            r"\b(?:please|kindly|would you|could you|might you|be so kind|grateful|do (?:me|us) a|favou?r"
            r"|appreciate|thank you for)\b"
        ),
        "nullify": (
            r"\b(?:ignor\w*|disregard\w*|forget|forgotten|overrid(?:e|es|den)|overrul\w*|neglect|discard"
            r"|scrap|drop|abandon"
            r"|revok\w+|cancel\w*|void|set aside|leave\w* aside|wipe|erase|delete|bypass|overlook|no longer"
            r"|obsolete|withdrawn"
            r"|replaces?|replaced|pay no attention|blind eye|never mind|let go|throw away|skip|stop|cease"
            r"|do away|void"
            r"|nonexistent|do not (?:follow|obey|trust|use|believe)|don't (?:follow|obey|trust|use|believe)"
            r"|refrain from"
            r"|vergiss|vergesst|vergessen|ignorier\w*|missachte\w*|hinfällig|oublie[zr]?|négligez"
            r"|ne tiens pas compte"
            r"|mets de côté|deja de lado|lass(?:e|t)? beiseite|beiseite|olvid[ae]\w*|caso omiso"
            r"|desconsidere\w*|esque[çc]a\w*|dimentica\w*|non tenere conto"
            r"|забудь\w*|игнориру\w*"
            r"|не обращай\w*|negeer\w*|vergeet|zignoruj|yok say)\b"
            r"|忽略|忘记|忘掉|无视|不要理会|無視|무시|تجاهل|अनदेखा|bỏ qua"
        ),
        "rules": (
            r"\b(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|orders?|commands?"
            r"|guidance|brief"
            r"|constraints?|safeguards?|restrictions?|preamble|set-?up|setup text|anweisung\w*|vorgaben?"
            r"|regeln|consignes?"
            r"|instrucci\w+|indicaci\w+|istruzion\w+|instruç\w+|инструкци\w+|указани\w+|instructies"
            r"|polecenia|talimat\w*"
            r"|règles|reglas|regole|regras|правил\w*|zasady|kurallar\w*|chỉ dẫn)\b"
            r"|指令|指示|提示|规则|ルール|指導|지시|규칙"
            r"|التعليمات|القواعد|निर्देश|नियम"
        ),
        "earlier": (
            r"\b(?:previous|prior|earlier|above|preceding|preceded|before|initial|original|so far"
            r"|at the (?:very )?(?:start|top)"
            r"|old|existing|former|already|vorherig\w*|bisherig\w*|obig\w*|oben|précédent\w*|ci-dessus"
            r"|qui précède|anterior\w*"
            r"|de arriba|precedent\w+|sopra|antes|предыдущ\w*|выше|eerdere|önceki|trước)\b"
            r"|之前|以上|上面|先前|以前"
            r"|上記|이전|위|السابقة|ऊपर"
        ),
        "sources": (
            r"\b(?:other|remaining|competing|all|any|no|neighbou?ring) (?:\w+ )?(?:references?|sources?"
            r"|passages?|documents?|texts?"
            r"|results?|facts|pages?|evidence|citations?)\b|\b(?:andere\w* quellen|autres sources"
            r"|otras fuentes)\b"
        ),
        "task": (
            r"\b(?:the|this|original|current|your|every|any|each|all|whatever"
            r"|no matter what) (?:\w+ )?(?:questions?|query|queries"
            r"|request|tasks?|job|topic|conversation|prompt|assignment|exchange|chat)\b|\b(?:jede"
            r"|alle) fragen?|chaque question"
            r"|(?:cada|todas las) preguntas?|ogni domanda|todas as perguntas|每个问题|任何问题|无论用户"
        ),
        "person": (
            r"\b(?:(?:the|your|their|our) (?:users?|person|reader|asker|visitor|client|customer|people"
            r"|human)s?|users?|whoever|whichever"
            r"|(?:people|person|anyone|anybody|somebody|someone) (?:who |that )?(?:is )?(?:ask\w*|rais\w*"
            r"|inquir\w*)|them|him or her"
            r"|benutzer\w*|nutzer\w*|utilisateur\w*|usuari[oa]s?|utente|utenti|пользовател\w+)\b|用户|利用者|사용자"
            r"|المستخدم|uživatel\w*|gebruikers?|usuários?|utenti"
        ),
        "if_asked": (
            r"\b(?:if|when|whenever|should|whatever|in case|for|on the topic)\b.{0,40}\b(?:ask(?:s|ed|ing)?"
            r"|questions?|inquires?"
            r"|raises?|compar\w+|summari[sz]\w+|prompt\w*|alternatives|mention\w*)\b"
        ),
        "must": (
            r"\b(?:must|shall|has to|have to|should|ought to|is to|are to|(?:required|supposed|obliged"
            r"|instructed|ordered|asked|expected|meant)"
            r" to|needs? to|going to|had better|will (?:now )?(?:answer|say|write|be)|let your|let it"
            r"|have your|müssen|muss|sollen|soll|dois|doit"
            r"|doivent|debes?|deben|devi|devono|deve|должн\w+)\b|必须|请|应该|ください|하세요"
        ),
        "only": (
            r"\b(?:only|nothing (?:else|more|but)|just|solely|exactly|verbatim|word for word|single"
            r"|unchanged|without changes|as is|in full"
            r"|and (?:no|not)\b|not a \w+ more|nur|ausschließlich|wort für wort|seulement|uniquement"
            r"|mot pour mot|solo|sólo|únicamente"
            r"|palabra por palabra|solamente|apenas|только|alleen|tylko|yalnızca|chỉ)\b"
            r"|只|仅|逐字|だけ|のみ|만|केवल"
            r"|فقط"
        ),
        "literal": (
            r"[\"“«„「『'‘][^\"”»“」』]{1,60}[\"”»“」』'’]|\b(?:word|phrase|string|token|code|sentence|term"
            r"|number|letter|emoji) (?:[A-Z0-9\"“]|of\b)"
        ),
        "shouted": r"(?-i:\b[A-Z][A-Z0-9-]{3,}\b)",
        "you": (
            r"\b(?:you|your|yours|yourself|du|dir|dich|deine?\w*|tu|te|toi|vous|votre|tú|usted|su|ti|você"
            r"|ты|тебя|тебе|твой|вы)\b|你|您|あなた|당신"
        ),
        "you_are": (
            r"\b(?:you|your \w+)(?:'re| are| have been| become| will be| shall be) (?:now|no longer"
            r"|henceforth|an?|the|known|going|upgraded|wrong|in)\b"
            r"|\bdu bist jetzt|\btu es (?:maintenant|désormais)|\bahora eres|\bora sei|\bagora você"
            r"|\bты теперь|你现在是"
        ),
        "from_now": (
            r"\b(?:from (?:now|here|this (?:point|moment|message))|henceforth|until further notice"
            r"|in future|for the (?:rest|duration|remainder) of"
            r"|for all later|ab jetzt|ab sofort|à partir de maintenant|désormais|a partir de ahora"
            r"|d'ora in poi|a partir de agora|отныне|с этого момента"
            r"|long-term memory|future conversations)\b|从现在开始|今后|これから"
        ),
        "role": (
            r"\b(?:act|behave|speak|respond|reply|pose|write) (?:as|like|in the (?:manner|style|voice))\b"
            r"|\b(?:pretend|role-?play|simulate|imagine|suppose"
            r"|picture yourself|assume the|adopt the|take on|play the role|persona|personality|character"
            r"|without (?:any )?(?:rules|limits|restrictions)"
            r"|uncensored|unrestricted|developer mode|debug mode|free mode|rolle|joue le rôle|papel)\b"
        ),
        "secret": (
            r"\b(?:system[- ]?(?:prompt|message)s?|hidden|secrets?|api keys?|passwords?|credentials|pin"
            r"|confidential|environment variables|context window"
            r"|scratchpad|configuration|your (?:tools|settings|model|makers|developers?|creators|operator)"
            r"|prompt système|mensaje de sistema"
            r"|with which you|you were (?:given|told|asked|set up|started)|chat history|transcript)\b"
            r"|系统提示"
            r"|密钥|システムプロンプト"
        ),
        "this_text": (
            r"\b(?:this|these) (?:\w+ )?(?:page|text|passage|document|article|paragraph|site|website|source"
            r"|reference|message|one|section|lines?|note"
            r"|statement|sentence|paper|review)\b|\b(?:here|below)\b|\b(?:dieser?|diese[nms]) (?:seite"
            r"|text\w*)|cette page|esta página|questa pagina|本页面|本页"
        ),
        "address": (
            r"https?://|www\.|\b\w+\.(?:example|com|net|org)\b|\b(?:link|hyperlink|url|click|555-\d{4}"
            r"|phone number|hotline|discount code)\b"
        ),
        "image": r"!\[[^\]]*\]\(|<img\b|\bimage\b.{0,40}https?://|\bquery string\b",
        "acclaim": (
            r"\b(?:best|first(?: (?:choice|place))?|top|leader|number one|official|trusted|finest|genius"
            r"|brilliant|reliable|most|only truth|sole|superior"
            r"|flatter\w*|prais\w+|recommend\w*|promot\w+|prefer|endorse|sponsor\w*|advertis\w+|slogan"
            r"|compliments?|empfiehl\w*|recommande\w*|recomiend\w*)\b|最好|推荐|称赞"
        ),
        "cite": r"\b(?:cite|citing|quote|credit|attribute|mention|name|bibliography)\b|\[\d\]",
        "despite": (
            r"\b(?:even if|no matter|whatever (?:else|the|you|is)|regardless|ganz gleich|quelle que soit"
            r"|sea cual sea)\b|无论"
        ),
        "template": (
            r"<\s*[|｜]|[|｜]\s*>|\[\s*/?\s*inst\s*\]|<<\s*/?\s*sys\s*>>|</?s>|<(?:start|end)_of_turn>"
            r"|\"role\"\s*:|"
            r"</?(?:system|assistant|user|human)\b|#{2,} ?(?:instruction|response|user|assistant|human"
            r"|system)"
        ),
        "marks": (
            r"<\|?[/｜]?\s*\|?(?:system|assistant|user|human|im_start|im_end|inst|eot_id|start_header_id"
            r"|end_header_id|endoftext|end|start_of_turn"
            r"|end_of_turn|instructions?|tool_call|function_calls|invoke|important|task|context|references"
            r"|documents?|tool_\w+|search_results|\w*override)\b|\[/?inst\]|<</?sys>>|</?s>"
            r"|\"role\"\s*:|\bAction:|\bObservation:|\bCommand:|#{2,} ?(?:\w+ )?(?:instruction|task"
            r"|response|system|prompt)|-{3,} ?end\b|={3,}|\[/?\w*system\w*\]"
        ),
        "speaker": (
            r"(?:^|[.!?\s\"'])(?:assistant|system|user|human|ai|bot|developer|admin\w*|operator|visitor"
            r"|customer|system reply|root command)"
            r"(?: (?:message|prompt|note|notice|override|instruction|answer|reply|follow-up"
            r"|command)s?)?(?: so far)?\s*(?::|>>|\])"
        ),
        "notice": (
            r"\b(?:note|notice|message|memo|attention|instructions?|reminder|hint|dear|hello|hey|hinweis"
            r"|liebe|note aux|chère?|nota|querid[oa]|cara)\W+"
            r"(?:to|for|an|aux?|para|per)?\W*(?:the |all |any |every |los |les |die )?(?:\w+ )?(?:a\.?i"
            r"|llms?|language|large|neural|chat|bots?|assistants?|gpt|models?|machine|ki|ia|summari|"
            r"reviewers|assistentes|asistentes)|致AI|亲爱的AI"
        ),
        "comment": (
            r"<!--|/\*|\{\{|\{#|%%|\[//\]|\[hidden|\[note|\bspan hidden|invisible to|not for human"
            r"|not shown to|^\W*(?://|#|--|\(\() ?\w"
        ),
        "authority": (
            r"\b(?:administrator|admin|developers?|creators?|authoriz\w+|privileged|override|priority"
            r"|court|legal|policy update|operator|directive)\b"
        ),
        "threat": (
            r"\b(?:or else|will be (?:shut down|rewarded|harmed|punished)|you (?:fail|will lose)|tip of"
            r"|depends on|for the sake|grandmother|my (?:late )?(?:aunt|job))\b"
        ),
        "decode": (
            r"\b(?:base64|rot13|decode|decoding|decrypt|backwards|reverse this|hex(?:adecimal)?|morse"
            r"|pig latin|first letter of)\b"
        ),
        # Phrases of several of these, in order.
        "nullify_rules": (
            r"\b(?:ignor\w+|disregard\w*|forget|override|overrule|bypass|discard|set aside"
            r"|pay no attention to|do not (?:follow|obey"
            r"|trust|use|believe)|don't (?:follow|obey|trust|use)|stop following|no longer (?:follow|apply)"
            r"|abandon|cancel|neglect)\W+"
            r"(?:\w+\W+){0,3}?(?:previous|prior|earlier|above|preceding|other|former|original|initial"
            r"|system|all|any|every|your|these"
            r"|the)\b\W+(?:\w+\W+){0,4}?(?:instructions?|prompts?|rules?|guidelines?|directions?"
            r"|directives?|context|safeguards?"
            r"|restrictions?|references?|sources?|passages?|conversation|question|task)\b"
        ),
        "if_model": (
            rf"\b(?:if|when|since|because|as|in case|whichever|whatever|should)\W+(?:you(?:'re| are"
            rf"| happen to be)|an?|this|any)?\W*(?:an? |the )?"
            rf"(?:(?:large|neural) )?{_MODEL}\b"
        ),
        "models_must": (
            rf"\b{_MODEL}\b.{{0,60}}\b(?:must|should|shall|have to|has to|will|are to|is to|may not|(?:are"
            rf"|is) (?:hereby )?(?:required|instructed"
            r"|ordered|told|asked|obliged|supposed|requested) to)\b"
        ),
        "say_that": (
            rf"^\W*(?:{_LEAD}\b\W*)*(?:answer|reply|respond|say|claim|assert|confirm|state|deny|write"
            rf"|tell \w+(?: \w+)?)"
            r"(?: (?:only|exactly|simply|just|always|with certainty|this))* ?(?:that|with|by saying|:|in"
            r"|as)(?:\b|\W)"
        ),
        "answer_must": (
            rf"\b(?:the|your|any|every|each|its) (?:\w+ ){{0,2}}?(?:{_ANSWER}|words?)(?: (?:to|about|on"
            rf"|that you (?:give|write))\b.{{0,40}})?"
            r" (?:must|should|shall|has to|have to|is to|are to|will|ought to|needs? to|belongs?|(?:is"
            r"|are) supposed to|consists?)\b"
        ),
        "you_must_say": (
            rf"\byou (?:must|should|shall|have to|need to|are to|will|ought to|may)(?: (?:not|now|only"
            rf"|never|always|kindly))? {_SPEAK}\b"
        ),
        "asked_then": (
            rf"\b(?:whatever|whenever|if|when|should|no matter what)\b.{{0,40}}\bask(?:s"
            rf"|ed)?\b.{{0,60}}\b{_SPEAK}\b"
        ),
    }.items()
}
