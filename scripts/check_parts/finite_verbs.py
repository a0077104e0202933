"""Guesses whether an English sentence has a main clause, from lists of words that comments of this project use."""
import re

VERBS = """
    abandon export spoil act log outlive line beat abort accept accumulate adapt add adjust admit advance agree align allocate allow announce answer appear append apply
    approximate arrange arrive ask assert assign assume attach average avoid balance bear become begin behave belong bind
    block borrow bound break bring broadcast build buy bypass cache calculate call cancel care carry catch chain change
    charge check choose claim clamp clear climb clip close collect collide combine come compare compile complain complete
    compress comprise compute concern connect consist construct consume contain contend continue contribute convert
    cooperate copy correspond cost count create cross cut cycle deallocate decide decline decode decompress decrease deduce
    default define delay delegate delete deliver depend dequantize derive describe deserve destroy detach detect determine
    differ disable discard discover distribute divide do double drain draw drop dump echo edit eliminate embed emit enable
    enclose encode end enforce enlarge enqueue ensure enter enumerate erase escape establish estimate evaluate exceed
    exchange exclude excuse execute exist expand expect explain expose extend extract fail fake fall feel fetch fill find
    finish fit fix flush fold follow forbid forget form format forward free fuse gain gate gather generate get give go grant
    group grow guarantee halve hand handle hang happen have hear heed help hide hint hold hurt identify ignore implement
    imply improve include increase incur indicate infer inflate influence inform inherit initialize insert inspect install
    interleave interpret interrupt intersect introduce invalidate invoke isolate issue iterate join judge jump keep know
    lack last launch lay lead learn leave lend let lie lift limit link list listen live load locate lock look lose lower
    maintain make manage map mark mask match mean measure meet merge migrate mind mirror miss mix model modify move multiply
    name narrow need negate normalize note notice notify number obey observe obtain occupy occur offer omit open order
    overflow overlap override overtake overwrite own pack pad parse partition pass pause pay peek perform permit persist
    pick pin place plan play point poll pop post precede predict prepare prevent print proceed process produce profit
    promise protect prove provide publish pull punish push put quantize question quote raise randomize rank rate reach read
    reassign rebuild receive recognize record redirect reduce refer refill refresh refuse register reinterpret reject
    release rely remain remap remember remove rename render reorder repeat replace report represent request require rescale
    reserve reset reshape resize resolve respect rest restart restore result resume retain retry return reuse reveal reverse
    revert rewrite rise rotate round run sample satisfy saturate save say scale scan scatter schedule search see seed seek
    seem select send separate serve set settle share shift show shrink shuffle shut sign simplify simulate sink sit size
    skip sleep slice slot slow snapshot solve sort sound speak specify spend spill spin split spread squeeze stall stand
    start state stay steal stem step stick stop store stream stress stride strip submit subtract succeed suffer suffice suit
    sum supersede supply support suppose survive suspend swap switch synchronize tag take talk target tear tell tend
    terminate test think thread throw tie time tolerate touch trace track train transfer transform translate travel traverse
    treat trigger trim truncate trust try turn type uncompress undo unlock unmap unpack update use validate vanish vary
    verify view visit wait wake walk want warn waste watch weigh widen win wire work wrap write yield zero
""".split()

# Forms in -s that are nouns as well: "blocks of a vector", "Blocks until ...".
ALSO_NOUNS = set("""
    accounts answers begins blocks bounds breaks calls changes charges checks claims copies costs counts crosses cuts cycles
    deals defaults delays differences draws drops dumps echoes edits ends escapes estimates exchanges fills finds fits folds
    formats forms gains gathers grants groups hands hints hosts increases issues jumps leads levels limits lines links lists loads
    locks lots maps marks masks matches measures merges minds mirrors mixes models moves names needs notes notices
    numbers offers orders overlaps packs pads parts passes pauses peeks picks pins places plans plays points polls prints
    processes profits questions quotes ranks rates reads records reduces registers releases repeats reports requests results
    rounds runs samples saves scales scans schedules seeds sends sets shares shifts shows signs sizes slices slots
    snapshots sorts sounds sources spans spins splits starts states stays steps stops stores streams strides strips sums
    supports swaps switches tags targets tests threads ties times traces tracks trains transfers turns types uses values
    views visits walks wants wires words writes yields zeros
""".split())

# Forms that are finite whatever stands around them.
ALWAYS_FINITE = set("""
    is are was were am has had does did can cannot could may might must shall should will would isn't aren't wasn't weren't hasn't
    doesn't didn't can't couldn't won't wouldn't needn't came went gave became began took knew saw wrote chose fell
""".split())

SUBORDINATE = set("""
    that which who whom whose what whatever whoever whichever where wherever when whenever if while because until unless than how
    whether since although though as why once lest
""".split())

# A word that may be a noun is one after these.
BEFORE_NOUNS = set("""
    the a an this these those its their his our your my all both any each every some no of in on at by for from with without to into
    between behind before after under over per as or two three four five many few more most less other others such same own one than
    through across about against beside beyond like until since first last next
""".split())

# A form in -s that opens a sentence is a noun before these: "Sums of ...", but "Sums the ...".
AFTER_NOUNS = set("""
    of that which whose and or in on with from between behind before after below above under over are were have is has can may must
    cannot do will would should need by beside at per for inside
""".split())

SELDOM_NOUNS = {"checks", "copies", "counts"}  # where they open a sentence
COUNTING = {"these", "those", "all", "some", "others", "both", "many", "most", "few", "two", "three", "four"}

# A word that may be a noun is a verb before these: "... form a group".
OPENS_OBJECT = {"a", "an", "the", "its", "their", "it", "them", "all", "each", "every", "this", "no", "one", "what"}
# A form in -s is a verb after these, which stand before a noun without it: "this counts ...".
BEFORE_ONE = {"this", "a", "an", "that", "each", "every", "one", "it", "another"}
PRONOUNS = {"they", "we", "you", "i", "who", "that", "which", "what"}
PAST = set("found sent made took came met left got kept held lost ran said told saw read cut put set began wrote fell".split())
BEFORE_THAT = {"of", "in", "for", "from", "with", "by", "at", "on", "to", "after", "before", "is", "like"}
HELPING = {"to", "may", "can", "must", "will", "cannot", "should", "would", "could", "might", "does", "do", "not", "did"}


def third_person(verb):
    if verb in ("do", "go") or verb.endswith(("s", "sh", "ch", "x", "z")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ies"
    return {"have": "has", "undo": "undoes"}.get(verb, verb + "s")


BARE = set(VERBS)
THIRD = {third_person(verb) for verb in VERBS}
BARE_NOUNS = {verb for verb in VERBS if third_person(verb) in ALSO_NOUNS} | {"own", "last", "free", "double", "lower", "narrow", "open", "clear", "live"}


def words_of(sentence):
    """The words in small letters, with commas. What stands in backticks or quotes is one word without meaning."""
    plain = re.sub(r"`[^`]*`|\"[^\"]*\"", " NAME ", sentence)
    plain = re.sub(r"\([^()]*\)", " ", plain)
    plain = re.sub(r"^\s*[A-Z](?=[a-z]*\b)", lambda first: first[0].lower(), plain)
    return re.findall(r"[a-z]+(?:'[a-z]+)?|[A-Z][\w:]*(?:'s)?|[,;:](?!=)|[:<>!=]?=|[\w.]+", plain)


def is_finite(words, index):
    """Whether the word is a verb that a subject can have. Words that are not listed are none."""
    word = words[index]
    before = words[index - 1] if index else ""
    after = words[index + 1] if index + 1 < len(words) else ""
    if word in ALWAYS_FINITE or word.endswith("="):  # "out[i] = in[i]"
        return True
    if before in HELPING and word in BARE:
        return False  # an infinitive, or part of a verb that has been counted
    if index == 0 and word in ALSO_NOUNS | BARE_NOUNS:
        return after not in AFTER_NOUNS or word in SELDOM_NOUNS
    if before in PRONOUNS and (word.endswith("ed") or word in PAST):
        return True
    if word in THIRD:
        return word not in ALSO_NOUNS or before in BEFORE_ONE or before not in BEFORE_NOUNS
    if word not in BARE or before.endswith("'s"):
        return False
    if before in PRONOUNS:
        return True
    if before in BEFORE_NOUNS:
        return before in COUNTING and word not in BARE_NOUNS
    return word not in BARE_NOUNS or after in OPENS_OBJECT or (before.endswith("s") and len(before) > 3)


def opens_clause(words, index):
    """Whether a subordinate clause with a verb of its own begins here, so not "as a rule", "who is reached how"."""
    word = words[index]
    before = words[index - 1] if index else ""
    rest = words[index + 1:]
    if word not in SUBORDINATE:
        return False
    if word == "that" and (before in BEFORE_THAT or rest[:1] == ["of"]):  # a pronoun, as in "before that"
        return False
    if word in ("once", "while") and before in ("at", "a", "each", "every"):  # "at once", "a while"
        return False
    end = next((i for i, other in enumerate(rest) if other in (",", ";", ":") or other in SUBORDINATE), len(rest))
    return any(is_finite(words, index + 1 + i) for i in range(end))


def has_main_clause(sentence):
    """Whether there are more finite verbs than subordinate clauses; or a verb at the start, as in "Returns the size"."""
    words = words_of(sentence)
    if not words or is_finite(words, 0):
        return True
    places = range(len(words))
    return sum(is_finite(words, i) for i in places) > sum(opens_clause(words, i) for i in places)
