"""English words whose forms no ending tells: each is found by the first of its line."""

from om_api.language.words import word_list

_LINES = """
arise arose arisen|awake awoke awoken|beat beaten|become became|begin began begun|bend bent|bite bit bitten|bleed bled
blow blew blown|break broke broken|bring brought|build built|buy bought|catch caught|choose chose chosen|come came
deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen
feed fed|feel felt|fight fought|find found|fly flew flown|forget forgot forgotten|forgive forgave forgiven
freeze froze frozen|get got gotten|give gave given|go went gone|grow grew grown|hang hung|hear heard|hide hid hidden
hold held|keep kept|know knew known|lead led|learn learnt|leave left|lend lent|light lit|lose lost|make made
mean meant|meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen
seek sought|sell sold|send sent|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung
sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood|steal stole stolen|stick stuck|strike struck
swear swore sworn|swim swam swum|take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown
understand understood|wake woke woken|wear wore worn|win won|write wrote written
child children|foot feet|goose geese|man men|mouse mice|tooth teeth|wife wives|woman women
"""
REGULAR = {
    form: base
    for line in _LINES.strip().splitlines()
    for base, *forms in map(word_list, line.split("|"))
    for form in forms
}
