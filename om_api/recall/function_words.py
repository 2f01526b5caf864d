"""The little words of languages: what a text's language is told by, and what a question is not searched for by."""

from om_api.language.words import EMPTY, FUNCTION_WORDS, word_set

# those of Latin script first: a text is of the one that has most of them
LITTLE_WORDS = {
    "english": FUNCTION_WORDS | word_set("don't isn't it's i'm not no yes but from just like get got all"),
    "german": word_set(
        """aber alle als also am an auch auf aus bei bin bist da das dass dein dem den der des die dies diese doch du
        ein eine einem einen einer er es euch für gibt habe haben hat hatte ich ihm ihn ihr im in ist ja kann kein keine
        mal man mein meine mich mir mit nach nein nicht noch nur oder schon sein sich sie sind so über um und uns unser
        vom von vor war warum was wann weil wenn wer werde werden wie wieder will wir wird wo zu zum zur zwischen"""
    ),
    "french": word_set(
        """à ai as au aux avec avez avons c'est ce cela ces cet cette comme dans de des du elle elles en est et été eu
        il ils j'ai je l' la le les leur lui ma mais me mes moi mon n' ne nos notre nous on où ou par pas plus pour
        pourquoi qu' quand que quel quelle qui sa sans se ses si son sont sur ta te tes toi ton très tu un une vous y"""
    ),
    "spanish": word_set(
        """a al algo como con cómo cuál cuándo cuando de del desde donde dónde el él ella en era es esa ese eso esta está
        este esto estoy fue ha hay he la las le lo los más me mi mis muy nada no nos o para pero por porque qué que
        quién se ser si sí sin sobre son su sus también te tengo tiene tu un una y ya yo"""
    ),
    "italian": word_set(
        """a ai al alla anche che chi ci come con cosa da dal dalla degli dei del della delle di dove e è ed gli ha ho
        i il in io la le lei lo loro lui ma mi mia mio ne nel nella non o per perché più quando quale quella quello
        questa questo se sei si sono sta su sua suo ti tra tu un una vi voi è"""
    ),
    "portuguese": word_set(
        """a ao aos as até com como da das de dela dele do dos e é ela ele em entre era essa esse esta está este eu foi
        há isso já lhe mais mas me meu minha muito na não nas nem no nos nós o onde os ou para pela pelo por porque qual
        quando que quem se sem ser seu só sua também te tem tenho um uma você"""
    ),
    "dutch": word_set(
        """aan al als bij dan dat de der deze die dit door een en er geen haar had heb hebben heeft het hij hoe iets ik in
        is je jij kan maar me met mij mijn naar niet nog nu of om omdat ons ook op over te tot uit van veel voor waar
        waarom wanneer was wat we wel wie wij wordt ze zich zij zijn zo zou"""
    ),
    "danish": word_set(
        """af alle at blev bliver da de dem den der deres det dig din du efter eller en er et for fordi fra ham han har
        havde hende her hun hvad hvem hvor hvornår i ikke ind jeg kan man med meget men mig min mit når nej noget nu og
        også om op os på sig sin skal som til ud var ved vi vil være"""
    ),
    "norwegian": word_set(
        """alle at av ble bli da de deg dem den der det din du eller en er et etter for fordi fra ha ham han har hun hva
        hvem hvor hvorfor i ikke inn jeg kan man med meg men min mitt mye må nei noe nå når og også om opp oss på seg sin
        skal som til ut var ved vi vil være"""
    ),
    "swedish": word_set(
        """alla att av bara blev blir de dem den det dig din du där efter eller en ett från för ha han har hade henne
        honom hon hur i in inte jag kan med men mig min mitt mycket nej nu när någon något och också om på sig sin ska
        som så till upp ut vad var varför vem vi vid vill är"""
    ),
    "finnish": word_set(
        """ei eivät en että hän he ja jo joka jos kanssa koska kuin kun me minä minun mitä mikä missä mutta myös ne niin
        nyt oli olen on ovat sen se sinä siitä tai tämä te vain voi"""
    ),
    "hungarian": word_set(
        """a az azt be csak de egy ez ezt és én fel ha hogy hol igen is itt ki kell le már meg mert mi mikor miért mint
        most nagyon ne nem nincs ő ők olyan s szerint te van vagy volt"""
    ),
    "romanian": word_set(
        """a acest această ai al am ar are au ca când care cât ce cu cum da dar de din după ea el este eu fi fost în îl
        îi la le lui mai mea mi meu nu o pe pentru sa să sau se si și sunt te tu un unde unei unui va vă"""
    ),
    "turkish": word_set(
        """ama ben benim bir biz bu çok da daha de değil diye en gibi hayır için ile ise kadar ki kim mı mi mu mü nasıl
        ne neden nerede o olan olarak onu onun sen siz şey şu var ve veya ya yok zaman"""
    ),
    "indonesian": word_set(
        """ada adalah aku anda apa atau bagaimana bahwa belum bisa dalam dan dari dengan di dia ini itu juga kami kamu
        kapan karena ke kita lebih mana mereka oleh pada saya sangat sudah telah tidak untuk yang"""
    ),
    "catalan": word_set(
        """a al amb aquest aquesta com de del dels el ella els en és ha he hi i jo la les li mai més meu molt no nosaltres
        o on per perquè però què quan que qui s' se seu són també té un una va vaig"""
    ),
    "russian": word_set(
        """а без бы был была были было быть в вам вас во вот все всё вы где да для до его ее её если есть еще ещё же за и
        из или им их к как какой когда кто ли меня мне мой моя мы на над не него нет но ну о об он она они от по под
        потому почему при с свой себя со так там то тебя тоже только ты тут у уже чем что чтобы эта это этот я"""
    ),
    "greek": word_set(
        """αν από για δεν είναι εγώ ένα έναν ένας εσύ έχει έχω η θα και με μια μου να ο οι όταν ότι που πού πως πώς σε σου
        στη στην στο στον τα τη την της τι το τον του των"""
    ),
    "arabic": word_set(
        "إلى أن أنا أو التي الذي أين إن عن على في قد كان كانت كيف لا لم لماذا ما متى من هذا هذه هل هو هي و ولا"
    ),
    "hindi": word_set(
        """और इस एक कब कहाँ का कि की के को कौन क्या क्यों तक तुम तो था थी थे ने नहीं पर मुझे में मेरा मेरी मैं यह ये वह वे से हम ही है हैं हूँ"""
    ),
}
# beyond those its language is told by
ALSO_LITTLE = {
    "english": EMPTY
    | word_set(
        """am can't didn't doesn't don't haven't i'd i'll i'm i've isn't it's let's won't wasn't weren't ever many much
        no one see still there's that's really go goes going went ll re ve"""
    )
}
